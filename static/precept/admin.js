// The administration's few live parts. Every page works without this file.
"use strict";

(() => {
  const every = 2000;

  function follow(section) {
    const announce = section.querySelector("[data-announce]");
    let said = "";

    async function look() {
      let state;
      try {
        const response = await fetch(section.dataset.progress, { headers: { Accept: "application/json" } });
        if (!response.ok) return; // signed out or gone: what is shown stays
        state = await response.json();
      } catch {
        setTimeout(look, 4 * every); // the network will be back
        return;
      }
      for (const version of state.versions) show(version);
      if (state.working) setTimeout(look, every);
      else finish();
    }

    function show(version) {
      const row = section.querySelector(`[data-version="${version.id}"]`);
      if (!row || !row.hasAttribute("data-working")) return;
      row.querySelector("[data-label]").textContent = version.label;
      const progress = row.querySelector("[data-progress-of]");
      progress.hidden = !(version.working && version.total);
      if (!progress.hidden) {
        progress.querySelector("progress").max = version.total;
        progress.querySelector("progress").value = version.done;
        progress.querySelector("[data-count]").textContent = `${version.done} of ${version.total} passages`;
      }
      const sentence = `Version ${version.number}: ${version.label}`;
      if (sentence !== said) announce.textContent = said = sentence;
    }

    function finish() {
      const form = document.querySelector("#document_form");
      if (form && touched(form)) section.querySelector("[data-reload]").hidden = false;
      else location.reload();
    }

    setTimeout(look, every);
  }

  function touched(form) {
    return [...form.elements].some((field) => {
      if (field.type === "file") return field.files.length > 0;
      if (field.type === "checkbox" || field.type === "radio") return field.checked !== field.defaultChecked;
      if (field.tagName === "SELECT") return [...field.options].some((o) => o.selected !== o.defaultSelected && o.value);
      return "defaultValue" in field && field.type !== "hidden" && field.value !== field.defaultValue;
    });
  }

  // Select2 makes search boxes without a name; they take that of the field they stand for.
  function nameSearchBoxes(root) {
    for (const box of root.querySelectorAll(".select2-selection[role=combobox]")) {
      const select = box.closest(".select2")?.previousElementSibling;
      const label = select?.id && document.querySelector(`label[for="${select.id}"]`);
      const column = select?.closest("td")?.className.replace("field-", "column-");
      const heading = column && select.closest("table")?.querySelector(`th.${CSS.escape(column)}`);
      const name = (label || heading)?.textContent.trim().replace(/:$/, "") || "Choose";
      for (const part of [box, box.querySelector(".select2-selection__rendered")]) {
        part?.removeAttribute("aria-labelledby");
        part?.setAttribute("aria-label", name);
      }
    }
  }

  function nameCells(root) {
    for (const field of root.querySelectorAll(".tabular td select, .tabular td input:not([type=hidden])")) {
      if (field.labels?.length || field.getAttribute("aria-label")) continue;
      const column = [...(field.closest("td")?.classList ?? [])].find((name) => name.startsWith("field-"));
      const heading = column && field.closest("table").querySelector(`th.${CSS.escape(column.replace("field-", "column-"))}`);
      if (heading) field.setAttribute("aria-label", heading.textContent.trim());
    }
  }

  function mend() {
    nameSearchBoxes(document);
    nameCells(document);
  }

  document.addEventListener("formset:added", () => setTimeout(mend, 0));
  addEventListener("load", () => setTimeout(mend, 0));
  document.querySelectorAll("[data-select-on-focus]").forEach((field) => field.addEventListener("focus", () => field.select()));
  document.querySelectorAll("[data-progress]").forEach((section) => {
    if (section.querySelector("[data-working]")) follow(section);
  });
})();
