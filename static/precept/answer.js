// Fills the page's own HTML with an answer of the API. Content only ever goes in as text.

/** Stands in the page's addresses where an answer's id belongs. */
export const NO_ID = "00000000-0000-0000-0000-000000000000";

const copy = (id) => document.getElementById(id).content.cloneNode(true);
const slot = (root, name) => root.querySelector(`[data-slot="${name}"]`);

/** The <article> of an answer, or of an attempt that has only a message. */
export function answerArticle(answer) {
  const article = copy("answer-template").querySelector("article");
  for (const part of article.querySelectorAll("[data-outcomes]")) {
    const wanted = part.dataset.outcomes.split(" ").includes(answer.outcome);
    const generator = part.dataset.generator;
    if (!wanted || (generator && !answer.generatedBy?.startsWith(generator))) part.remove();
  }
  write(article, "question", answer.question);
  write(article, "message", answer.message);
  const again = slot(article, "question-again");
  if (again) again.value = answer.question;
  if (!answer.citations?.some((cited) => cited.withdrawnDate)) {
    slot(article, "quotes-withdrawn")?.remove();
  }
  const sources = new Map((answer.citations ?? []).map((cited) => [cited.n, cited]));
  fillStatements(article, answer, sources);
  const list = slot(article, "sources");
  list?.replaceChildren(...[...sources.values()].map((cited) => source(cited, answer.language)));
  nameFeedback(article, answer.answerId);
  return article;
}

function fillStatements(article, answer, sources) {
  const statements = slot(article, "statements");
  if (!statements) return;
  statements.lang = answer.language;
  statements.replaceChildren(...answer.claims.map((claim) => {
    const statement = copy("statement-template");
    write(statement, "text", claim.text);
    slot(statement, "links").replaceChildren(...claim.citations.map((n) => link(sources.get(n))));
    return statement;
  }));
}

function link(cited) {
  const anchor = slot(copy("statement-link-template"), "link");
  anchor.href = cited.url;
  anchor.textContent = `[${cited.n}]`;
  anchor.setAttribute("aria-label", `[${cited.n}] ${cited.title}, page ${cited.page}`);
  return anchor;
}

function source(cited, answerLanguage) {
  const item = slot(copy("source-template"), "item");
  item.value = cited.n;
  slot(item, "link").href = cited.url;
  slot(item, "quote").lang = cited.language;
  for (const name of ["title", "version", "page", "quote"]) write(item, name, cited[name]);
  write(item, "number", cited.n);
  optional(item, "label", cited.pageLabel);
  optional(item, "recognised", cited.recognised && "Recognised from a picture");
  optional(item, "section", cited.section);
  optional(item, "effective", cited.effectiveDate && day(cited.effectiveDate));
  optional(item, "withdrawn", cited.withdrawnDate && day(cited.withdrawnDate));
  const foreign = cited.language && cited.language !== answerLanguage;
  optional(item, "language", foreign && languageName(cited.language));
  return item;
}

function nameFeedback(article, answerId) {
  const form = article.querySelector("form.feedback");
  if (!form) return;
  form.action = form.action.replace(NO_ID, answerId);
  form.dataset.api = form.dataset.api.replace(NO_ID, answerId);
}

function optional(root, name, text) {
  root.querySelector(`[data-part="${name}"]`).hidden = !text;
  write(root, name, text || "");
}

function write(root, name, text) {
  const element = slot(root, name);
  if (element) element.textContent = text;
}

function day(isoDate) {
  const format = { day: "numeric", month: "long", year: "numeric", timeZone: "UTC" };
  return new Date(`${isoDate}T00:00:00Z`).toLocaleDateString("en-GB", format);
}

function languageName(code) {
  return new Intl.DisplayNames(["en"], { type: "language" }).of(code);
}
