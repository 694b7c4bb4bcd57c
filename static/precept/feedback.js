// Sends feedback without leaving the answer.

import { post } from "./stream.js";

/** Send the form's choice; the button pressed says which. */
export async function sendFeedback(form, button) {
  const status = form.querySelector(".feedback-status");
  const helpful = button.value === "true";
  const comment = helpful ? "" : form.elements.comment.value;
  const category = helpful ? "" : form.elements.category.value;
  const sent = await post(form.dataset.api, JSON.stringify({ helpful, category, comment }))
    .catch(() => null);
  if (!sent?.ok) {
    status.textContent = "Your feedback could not be sent. Try again.";
    return;
  }
  form.querySelector(".feedback-choices").hidden = true;
  status.textContent = helpful
    ? "Thank you. Good to know that it helped."
    : "Thank you. A reviewer will look at this answer.";
  status.focus();
}
