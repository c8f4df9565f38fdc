/**
 * Validators: what comes from the network is unknown until one of these takes it. Knows no shape of the contract.
 *
 * A validator takes an unknown value and the path that led to it, and returns the value with its type, or throws a
 * `ValidationError` that names the path, what was found and what was expected.
 */

/**
 * @template T
 * @typedef {(value: unknown, path?: string) => T} Validator
 */

export class ValidationError extends Error {
  /**
   * @param {string} path where in the message
   * @param {unknown} found
   * @param {string} expected
   */
  constructor(path, found, expected) {
    super(`${path}: found ${describe(found)}, expected ${expected}.`);
    this.name = "ValidationError";
    this.path = path;
  }
}

/**
 * Names a value briefly for an error message.
 * @param {unknown} value
 * @returns {string}
 */
function describe(value) {
  if (value === undefined) return "nothing";
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === "object" && value !== null) return "an object";
  const text = JSON.stringify(value) ?? typeof value;
  return text.length > 40 ? `${text.slice(0, 40)}…` : text;
}

/** @type {Validator<string>} */
export const string = (value, path = "value") => {
  if (typeof value !== "string") throw new ValidationError(path, value, "a text");
  return value;
};

/** A finite number: JSON knows no other. @type {Validator<number>} */
export const number = (value, path = "value") => {
  if (typeof value !== "number" || !Number.isFinite(value)) throw new ValidationError(path, value, "a number");
  return value;
};

/** @type {Validator<boolean>} */
export const boolean = (value, path = "value") => {
  if (typeof value !== "boolean") throw new ValidationError(path, value, "true or false");
  return value;
};

/** @type {Validator<unknown>} */
export const unknown = (value) => value;

/**
 * @template {string} T
 * @param {...T} choices
 * @returns {Validator<T>}
 */
export const oneOf =
  (...choices) =>
  (value, path = "value") => {
    const found = choices.find((choice) => choice === value);
    if (found === undefined) throw new ValidationError(path, value, `one of ${choices.join(", ")}`);
    return found;
  };

/**
 * @template T
 * @param {Validator<T>} inner
 * @returns {Validator<T | null>}
 */
export const nullable =
  (inner) =>
  (value, path = "value") =>
    value === null ? null : inner(value, path);

/**
 * A field that may be left out; absent and null both read as `fallback`.
 * @template T
 * @param {Validator<T>} inner
 * @param {T} fallback
 * @returns {Validator<T>}
 */
export const optional =
  (inner, fallback) =>
  (value, path = "value") =>
    value === undefined || value === null ? fallback : inner(value, path);

/**
 * @template T
 * @param {Validator<T>} inner
 * @returns {Validator<T[]>}
 */
export const list =
  (inner) =>
  (value, path = "value") => {
    if (!Array.isArray(value)) throw new ValidationError(path, value, "a list");
    return value.map((item, i) => inner(item, `${path}[${i}]`));
  };

/**
 * A list of finite numbers and nulls, by far the most of what travels: checked without building paths.
 * @type {Validator<(number | null)[]>}
 */
export const numbers = (value, path = "value") => {
  if (!Array.isArray(value)) throw new ValidationError(path, value, "a list of numbers");
  for (let i = 0; i < value.length; i++) {
    const item = value[i];
    if (item !== null && typeof item !== "number") throw new ValidationError(`${path}[${i}]`, item, "a number or null");
  }
  return value;
};

/** A list of finite numbers without gaps. @type {Validator<number[]>} */
export const fullNumbers = (value, path = "value") => {
  if (!Array.isArray(value)) throw new ValidationError(path, value, "a list of numbers");
  for (let i = 0; i < value.length; i++) {
    if (typeof value[i] !== "number") throw new ValidationError(`${path}[${i}]`, value[i], "a number");
  }
  return value;
};

/**
 * Any object, its values left unknown.
 * @type {Validator<Record<string, unknown>>}
 */
export const record = (value, path = "value") => {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new ValidationError(path, value, "an object");
  }
  return /** @type {Record<string, unknown>} */ (value);
};

/**
 * An object with at least these fields; fields that the page does not know are dropped.
 * @template {Record<string, Validator<any>>} S
 * @param {S} shape
 * @returns {Validator<{[K in keyof S]: ReturnType<S[K]>}>}
 */
export const object =
  (shape) =>
  (value, path = "value") => {
    const found = record(value, path);
    const taken = /** @type {any} */ ({});
    for (const [key, inner] of Object.entries(shape)) taken[key] = inner(found[key], `${path}.${key}`);
    return taken;
  };
