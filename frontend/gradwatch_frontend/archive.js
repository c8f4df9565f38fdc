/** The answers that a report holds, found by the address that they were asked for. Knows no document. */

/** In a report each number is there in one resolution, whatever is asked for. */
const RESOLUTION = ["points", "columns"];

export class Archive {
  /** @type {Map<string, unknown>} */
  #answers;

  /** @param {Record<string, unknown>} answers by address */
  constructor(answers) {
    this.#answers = new Map(Object.entries(answers).map(([address, answer]) => [nameAddress(address), answer]));
  }

  /**
   * Answers as the server would have done when the report was made.
   * @param {string} address
   * @returns {Promise<Response>}
   */
  async answer(address) {
    const found = this.#answers.get(nameAddress(address));
    if (found !== undefined) return Response.json(found);
    const error = { code: "not_in_report", message: `This report does not hold ${address}.`, detail: null };
    return Response.json(error, { status: 404 });
  }
}

/**
 * Writes an address in the one way in which it is looked for.
 * @param {string} address
 * @returns {string}
 */
function nameAddress(address) {
  const [path = "", text = ""] = address.split("?");
  const query = new URLSearchParams(text);
  for (const name of RESOLUTION) query.delete(name);
  query.sort();
  return `${path}?${query}`;
}
