/** Findings on the step axis: which stands in which track, and which one lies under the pointer. Pure. */

/** @typedef {{id: string, title: string, first: number, last: number | null, tone: "nonfinite" | "critical" | "warning"}} TimelineFinding */
/** @typedef {TimelineFinding & {end: number, track: number}} PlacedFinding `end` is exclusive */

/** More tracks would push the heatmap away; what comes then shares the last one. */
export const MOST_TRACKS = 4;
/** A mark takes this much room, however short its finding. */
const MARK_PX = 13;
/** So near to a mark or a span a click still means it. */
const REACH_PX = 7;

/**
 * Lays findings into tracks, so that none covers another: the leading one topmost, each of the others in the first free track.
 * @param {TimelineFinding[]} findings the leading one first
 * @param {[number, number]} range first step and end of what is shown
 * @param {number} widthPx of the step axis
 * @returns {PlacedFinding[]} those that are in the range
 */
export function placeFindings(findings, [first, end], widthPx) {
  const room = (MARK_PX * (end - first)) / Math.max(1, widthPx);
  /** @type {[number, number][][]} */
  const tracks = [];
  return findings
    .map((finding) => ({ ...finding, end: finding.last === null ? end : Math.max(finding.last, finding.first) + 1 }))
    .filter((finding) => finding.first < end && finding.end > first)
    .map((finding) => {
      const left = finding.first - room / 2;
      const right = Math.max(finding.end, finding.first + room / 2);
      const isFree = (/** @type {[number, number][]} */ spans) => spans.every(([from, to]) => right <= from || left >= to);
      const found = tracks.findIndex(isFree);
      const track = found === -1 ? Math.min(tracks.length, MOST_TRACKS - 1) : found;
      (tracks[track] ??= []).push([left, right]);
      return { ...finding, track };
    });
}

/**
 * @param {PlacedFinding[]} placed
 * @returns {number}
 */
export const countTracks = (placed) => placed.reduce((most, { track }) => Math.max(most, track + 1), 0);

/**
 * Finds the finding under the pointer: a mark before a span, the nearer before the farther.
 * @param {PlacedFinding[]} placed
 * @param {number} step not rounded
 * @param {number} track
 * @param {number} stepPx width of a step
 * @returns {PlacedFinding | null}
 */
export function findFinding(placed, step, track, stepPx) {
  const reach = REACH_PX / stepPx;
  const near = placed.filter((finding) => finding.track === track && step >= finding.first - reach && step <= finding.end + reach);
  near.sort((a, b) => Math.abs(a.first - step) - Math.abs(b.first - step));
  return near[0] ?? null;
}
