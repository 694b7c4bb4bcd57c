// Asks over a stream: shows the stages as they come, then the released answer, all at once.

import { NO_ID, answerArticle } from "./answer.js";
import { sendFeedback } from "./feedback.js";
import { events, post } from "./stream.js";

const STAGES = {
  searching: "Searching the documents you may read",
  checking_access: "Checking that you may read what was found",
  ranking: "Choosing the passages that fit your question",
  writing: "Putting an answer together from them",
  verifying: "Checking every quote, word for word",
  releasing: "Checking your access once more",
};
const FIRST_STAGE = Object.keys(STAGES)[0];
const CANCEL_PATIENCE_MS = 10_000;
const LOST = "The connection was lost before an answer was ready.";
const SIGNED_OUT = "You have been signed out. Sign in again in another tab, then ask again here.";
const NOT_SENT = "Precept could not be reached. Check your connection.";

const form = document.getElementById("ask");
const box = document.getElementById("question");
const askButton = form.querySelector("button[type=submit]");
const count = document.getElementById("question-count");
const problem = document.getElementById("question-error");
const title = document.querySelector(".working-title");
const stages = document.querySelector(".stages");
const cancelButton = document.getElementById("cancel");
const result = document.getElementById("result");
const limit = Number(form.dataset.limit);
const pageTitle = document.title;

let running = null;

form.addEventListener("submit", (event) => {
  event.preventDefault();
  ask(box.value);
});

box.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  form.requestSubmit();
});

box.addEventListener("input", () => {
  const length = lengthOf(box.value);
  count.hidden = length < limit * 0.8;
  count.textContent = `${length} of ${limit} characters`;
  count.classList.toggle("over", length > limit);
  if (length <= limit) complain("");
});

cancelButton.addEventListener("click", cancel);

result.addEventListener("submit", (event) => {
  event.preventDefault();
  if (event.target.matches(".feedback")) sendFeedback(event.target, event.submitter);
  else ask(event.target.elements.question.value);
});

result.addEventListener("click", (event) => {
  if (!event.target.closest('a[href="#question"]')) return;
  event.preventDefault();
  box.focus();
  box.select();
});

async function ask(question) {
  if (running) return;
  if (!question.trim()) return complain("Write a question first.");
  if (lengthOf(question) > limit) {
    return complain(`The question is longer than ${limit} characters. Shorten it.`);
  }
  complain("");
  const attempt = { id: newRequestId(), question, abort: new AbortController() };
  begin(attempt);
  try {
    show(await follow(attempt));
  } catch (error) {
    show(failure(attempt, error));
  } finally {
    finish();
  }
}

/** The answer at the end of the stream. Throws Refused for an error response. */
async function follow(attempt) {
  const body = JSON.stringify({ requestId: attempt.id, question: attempt.question });
  const response = await post(form.dataset.stream, body, {
    signal: attempt.abort.signal,
    headers: { Accept: "text/event-stream" },
  });
  attempt.sent = true;
  if (!response.ok) throw await Refused.from(response);
  for await (const event of events(response)) {
    if (event.name === "status") addStage(attempt, event.data.stage);
    if (event.name === "answer") return event.data;
  }
  throw new Error(LOST);
}

class Refused extends Error {
  static async from(response) {
    const problem = await response.json().catch(() => ({}));
    const refused = new Refused(problem.detail ?? "Something went wrong on our side.");
    refused.status = response.status;
    return refused;
  }
}

function failure(attempt, error) {
  const { question, cancelled, sent } = attempt;
  if (cancelled) return { question, outcome: "cancelled", message: "You cancelled this question." };
  if (error instanceof Refused) {
    const message = error.status === 401 ? SIGNED_OUT : error.message;
    return { question, outcome: "unavailable", message };
  }
  return { question, outcome: "interrupted", message: sent ? LOST : NOT_SENT };
}

function begin(attempt) {
  running = attempt;
  askButton.disabled = true;
  result.replaceChildren();
  stages.replaceChildren();
  title.hidden = cancelButton.hidden = false;
  cancelButton.disabled = false;
  cancelButton.textContent = "Cancel";
  document.title = "Working… · Precept";
}

function finish() {
  running = null;
  askButton.disabled = false;
  title.hidden = cancelButton.hidden = true;
  stages.replaceChildren();
}

function addStage(attempt, stage) {
  if (stage === FIRST_STAGE && attempt.stage) addLine("A document changed meanwhile. Starting again");
  attempt.stage = stage;
  addLine(STAGES[stage] ?? "Working");
}

function addLine(words) {
  const line = document.createElement("li");
  line.textContent = words;
  stages.append(line);
}

function show(answer) {
  const article = answerArticle(answer);
  result.replaceChildren(article);
  // What was answered makes room for the next question; what failed stays, to be changed.
  box.value = answer.claims?.length ? "" : answer.question;
  box.dispatchEvent(new Event("input"));
  document.title = pageTitle;
  if (answer.answerId) {
    history.replaceState(null, "", form.dataset.answer.replace(NO_ID, answer.answerId));
    document.title = "Answer · Precept";
  }
  article.querySelector("h2").focus();
}

async function cancel() {
  const attempt = running;
  if (!attempt) return;
  attempt.cancelled = true;
  cancelButton.disabled = true;
  cancelButton.textContent = "Cancelling…";
  const body = new URLSearchParams({ request_id: attempt.id });
  // The stream then ends by itself, with the attempt's own outcome; if it does not, stop waiting.
  setTimeout(() => attempt.abort.abort(), CANCEL_PATIENCE_MS);
  const sent = await post(form.dataset.cancel, body).catch(() => null);
  if (!sent?.ok) attempt.abort.abort();
}

function complain(words) {
  problem.textContent = words;
  if (words) {
    box.setAttribute("aria-invalid", "true");
    box.focus();
  } else {
    box.removeAttribute("aria-invalid");
  }
}

/** As the server counts: runs of white space are one character, and so is an emoji. */
function lengthOf(text) {
  return [...text.trim().replace(/\s+/g, " ")].length;
}

/** A version 4 UUID; crypto.randomUUID is missing on plain http. */
function newRequestId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}
