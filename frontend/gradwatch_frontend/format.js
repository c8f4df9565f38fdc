/** Numbers, steps, times and shares as short words. Pure; what has no value is an em dash, never "null". */

export const DASH = "—";
const THIN_SPACE = "\u2009";
const SPELLING = /** @type {Record<string, string>} */ ({ nan: "NaN", "+inf": "+Inf", "-inf": "−Inf" });

/**
 * Writes a number with three significant digits: plain between 0.001 and 99,999, else as 3.2e-5.
 * @param {number | null | undefined} value
 * @param {number} [digits] significant digits
 * @returns {string}
 */
export function formatNumber(value, digits = 3) {
  if (value === null || value === undefined) return DASH;
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "+Inf" : "−Inf";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e5 || size < 1e-3) return minus(shorten(value.toExponential(digits - 1)));
  if (size >= 1000) return formatInteger(Math.round(value));
  return minus(String(Number(value.toPrecision(digits))));
}

/**
 * @param {string} text as of toExponential
 * @returns {string}
 */
function shorten(text) {
  const [mantissa = "0", exponent = "0"] = text.split("e");
  return `${Number(mantissa)}e${Number(exponent)}`;
}

/**
 * @param {string} text
 * @returns {string} with a true minus sign before the number
 */
function minus(text) {
  return text.startsWith("-") ? `−${text.slice(1)}` : text;
}

/**
 * Writes a whole number in groups of three, as the findings do: 12,000.
 * @param {number | null | undefined} value
 * @returns {string}
 */
export function formatInteger(value) {
  if (value === null || value === undefined) return DASH;
  const digits = String(Math.abs(Math.trunc(value)));
  const grouped = digits.length > 3 ? digits.replace(/\B(?=(\d{3})+$)/g, ",") : digits;
  return value < 0 ? `−${grouped}` : grouped;
}

export const formatStep = formatInteger;

/**
 * Writes a count: all digits up to 99,999, then 1.2 M.
 * @param {number | null | undefined} value
 * @returns {string}
 */
export function formatCount(value) {
  if (value === null || value === undefined) return DASH;
  if (Math.abs(value) < 1e5) return formatInteger(value);
  for (const [size, unit] of /** @type {[number, string][]} */ ([[1e9, "G"], [1e6, "M"], [1e3, "k"]])) {
    if (Math.abs(value) >= size) return `${Number((value / size).toPrecision(3))}${THIN_SPACE}${unit}`;
  }
  return formatInteger(value);
}

/**
 * Writes "1 step", "2 steps".
 * @param {number} n
 * @param {string} noun
 * @param {string} [plural]
 * @returns {string}
 */
export function formatPlural(n, noun, plural = `${noun}s`) {
  return `${formatCount(n)} ${n === 1 ? noun : plural}`;
}

/**
 * Writes a range of steps whose end is exclusive: "step 7" or "steps 7 to 9".
 * @param {number} first
 * @param {number} end exclusive
 * @returns {string}
 */
export function formatStepRange(first, end) {
  if (end - first <= 1) return `step ${formatStep(first)}`;
  return `steps ${formatStep(first)} to ${formatStep(end - 1)}`;
}

/**
 * Writes a share of 0 to 1 as per cent; a small one keeps a digit, and what is not 0 never reads 0.
 * @param {number | null | undefined} share
 * @returns {string}
 */
export function formatShare(share) {
  if (share === null || share === undefined) return DASH;
  const percent = share * 100;
  if (percent > 0 && percent < 0.1) return `< 0.1${THIN_SPACE}%`;
  return `${percent < 10 ? Number(percent.toFixed(1)) : Math.round(percent)}${THIN_SPACE}%`;
}

/**
 * Spells the state of a scalar that has no number.
 * @param {string | null | undefined} state "nan", "+inf" or "-inf"
 * @returns {string}
 */
export function formatState(state) {
  return state ? (SPELLING[state] ?? state) : DASH;
}

/**
 * Writes how long ago something was.
 * @param {string} iso
 * @param {number} now milliseconds
 * @returns {string}
 */
export function formatAgo(iso, now) {
  const then = Date.parse(iso);
  if (Number.isNaN(then)) return DASH;
  const seconds = Math.max(0, (now - then) / 1000);
  if (seconds < 45) return "just now";
  if (seconds < 90 * 60) return `${Math.max(1, Math.round(seconds / 60))} min ago`;
  if (seconds < 36 * 3600) return `${Math.round(seconds / 3600)} h ago`;
  if (seconds < 60 * 86400) return `${Math.round(seconds / 86400)} days ago`;
  return new Date(then).toISOString().slice(0, 10);
}

/**
 * Writes a moment in the reader's own zone.
 * @param {string | null} iso
 * @returns {string}
 */
export function formatMoment(iso) {
  const then = iso === null ? Number.NaN : Date.parse(iso);
  if (Number.isNaN(then)) return DASH;
  return new Date(then).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "medium" });
}

/**
 * Writes a duration: 8.2 s, 4 min 10 s, 3 h 05 min.
 * @param {number | null} seconds
 * @returns {string}
 */
export function formatDuration(seconds) {
  if (seconds === null || !Number.isFinite(seconds)) return DASH;
  if (seconds < 60) return `${Number(seconds.toFixed(seconds < 10 ? 1 : 0))} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${String(Math.floor(seconds % 60)).padStart(2, "0")} s`;
  return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, "0")} min`;
}

/**
 * Writes a power of ten for a colour bar: 1e-3, 0.01, 0.1, 1, 10, 100, 1e3.
 * @param {number} exponent
 * @returns {string}
 */
export function formatDecade(exponent) {
  if (exponent >= -2 && exponent <= 2) return String(Number((10 ** exponent).toPrecision(1)));
  return `1e${exponent}`;
}

/**
 * Shortens a layer path to its last parts: `encoder/…/query/kernel`. Its end tells more than its beginning.
 * @param {string} path
 * @param {number} length most characters
 * @returns {string}
 */
export function shortenPath(path, length) {
  if (path.length <= length) return path;
  const parts = path.split("/");
  for (let first = 1; first < parts.length; first++) {
    const text = `…/${parts.slice(first).join("/")}`;
    if (text.length <= length) return text;
  }
  return `…${path.slice(path.length - length + 1)}`;
}

/**
 * Writes any value of a config or an environment on one line.
 * @param {unknown} value
 * @returns {string}
 */
export function formatValue(value) {
  if (value === null || value === undefined) return DASH;
  if (typeof value === "number") return Number.isInteger(value) ? formatInteger(value) : formatNumber(value, 4);
  if (typeof value === "string") return value;
  if (typeof value === "boolean") return value ? "yes" : "no";
  return JSON.stringify(value);
}

/** The largest float32, as far as four digits tell it: what lies there is a stand-in for what is larger. */
const FLOAT32_MAX = 3.402e38;
const STEP = /(^|_)step$/;

/**
 * Writes a value of a finding's evidence; a number that float32 cannot hold is said to be so, not written out.
 * @param {string} key
 * @param {unknown} value
 * @returns {string}
 */
export function formatEvidence(key, value) {
  if (typeof value === "number" && Math.abs(value) >= FLOAT32_MAX) return key === "amplification" ? "infinite" : `beyond float32${value < 0 ? ", negative" : ""}`;
  if (value === "nan" || value === "+inf" || value === "-inf") return value === "nan" ? "NaN" : value === "+inf" ? "infinite" : "minus infinite";
  if (STEP.test(key) && typeof value === "number") return formatStep(value);
  if (Array.isArray(value) && value.every((item) => typeof item === "number" || item === null)) return value.map((item) => formatEvidence(key, item)).join(", ");
  return formatValue(value);
}
