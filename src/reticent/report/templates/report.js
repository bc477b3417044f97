(function () {
  "use strict";
  var table = document.getElementById("record-table");
  if (!table) return;
  var body = table.tBodies[0];
  var rows = Array.prototype.slice.call(body.rows);
  var heads = Array.prototype.slice.call(table.tHead.rows[0].cells);
  var find = document.getElementById("find");
  var group = document.getElementById("class");
  var status = document.getElementById("status");
  var collator = new Intl.Collator("en", { numeric: true });

  function key(text) {
    var number = Number(text.replace(/\u2212/g, "-").replace(/,/g, ""));
    return text !== "" && !isNaN(number) ? number : text === "\u2013" ? null : text;
  }
  var cells = rows.map(function (row) {
    return Array.prototype.map.call(row.cells, function (cell) { return key(cell.textContent.trim()); });
  });
  var texts = rows.map(function (row) {
    return (row.cells[0].textContent + " " + row.cells[1].textContent).toLowerCase();
  });
  var order = rows.map(function (_, i) { return i; });

  function compare(a, b) {
    if (typeof a === "number" && typeof b === "number") return a - b;
    return collator.compare(String(a), String(b));
  }

  function sort(column) {
    var was = heads[column].getAttribute("aria-sort");
    var down = was ? was !== "descending" : !heads[column].classList.contains("text") && column !== 0;
    heads.forEach(function (head) { head.removeAttribute("aria-sort"); });
    heads[column].setAttribute("aria-sort", down ? "descending" : "ascending");
    order.sort(function (a, b) {
      var x = cells[a][column], y = cells[b][column];
      if (x === null || y === null) return (x === null) - (y === null) || a - b;
      return (down ? compare(y, x) : compare(x, y)) || a - b;
    });
    var part = document.createDocumentFragment();
    order.forEach(function (i) { part.appendChild(rows[i]); });
    body.appendChild(part);
    tell("Sorted by " + heads[column].textContent + (down ? ", largest first. " : ", smallest first. "));
  }

  function filter() {
    var word = find.value.trim().toLowerCase();
    var label = group ? group.value : "";
    rows.forEach(function (row, i) {
      var right = !label || row.cells[1].textContent.trim() === label;
      row.hidden = !(right && texts[i].indexOf(word) >= 0);
    });
    tell("");
  }

  function tell(prefix) {
    var shown = rows.filter(function (row) { return !row.hidden; }).length;
    status.textContent = prefix + shown.toLocaleString("en") + " of " + rows.length.toLocaleString("en") + " shown";
  }

  heads.forEach(function (head, column) {
    var button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    head.textContent = "";
    head.appendChild(button);
    button.addEventListener("click", function () { sort(column); });
  });
  find.addEventListener("input", filter);
  if (group) group.addEventListener("change", filter);
  var form = find.form;
  form.addEventListener("submit", function (event) { event.preventDefault(); });
  form.hidden = false;
  tell("");
})();
