/** The beginning of a report: a file that holds a run and the page's own modules, and shows it without a server. */

import { takeAnswersFrom } from "./api.js";
import { Archive } from "./archive.js";
import { showReport } from "./pages/report.js";
import { report as readReport } from "./schema.js";
import { startTheme } from "./theme.js";

const found = readReport(JSON.parse(document.getElementById("archive")?.textContent ?? "null"), "report");
const archive = new Archive(found.answers);
takeAnswersFrom((path) => archive.answer(path));
startTheme();
showReport(found);
