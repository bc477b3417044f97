(function () {
  "use strict";
  var collator = new Intl.Collator("en", { numeric: true });

  function key(text) {
    var number = Number(text.replace(/\u2212/g, "-").replace(/[,%\u00a0]/g, "").replace(/^[<>]/, ""));
    return text !== "" && !isNaN(number) ? number : text === "\u2013" || text === "" ? null : text;
  }

  function value(cell) {
    if (cell.hasAttribute("data-key")) return key(cell.getAttribute("data-key"));
    var first = cell.firstChild;
    return key((first && first.nodeType === 3 && cell.children.length ? first.data : cell.textContent).trim());
  }

  function compare(a, b) {
    if (typeof a === "number" && typeof b === "number") return a - b;
    return collator.compare(String(a), String(b));
  }

  function equip(table, form) {
    var body = table.tBodies[0];
    var rows = Array.prototype.slice.call(body.rows);
    var heads = Array.prototype.slice.call(table.tHead.rows[0].cells);
    var texts = Number(table.getAttribute("data-texts") || 1);
    var cells = rows.map(function (row) { return Array.prototype.map.call(row.cells, value); });
    var words = rows.map(function (row) {
      return Array.prototype.slice.call(row.cells, 0, texts).map(function (cell) { return cell.textContent.trim(); });
    });
    var joined = words.map(function (parts) { return parts.join(" ").toLowerCase(); });
    var order = rows.map(function (_, i) { return i; });
    var status = form && form.querySelector("output");

    function tell(prefix) {
      if (!status) return;
      var shown = rows.filter(function (row) { return !row.hidden; }).length;
      var total = Number(status.getAttribute("data-total")) || rows.length;
      status.textContent = prefix + "showing " + shown.toLocaleString("en") + " of " + total.toLocaleString("en");
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
      tell("Sorted by " + heads[column].textContent.trim() + (down ? ", largest first; " : ", smallest first; "));
    }

    function filter() {
      var word = form.querySelector("[data-find]").value.trim().toLowerCase();
      var equal = Array.prototype.slice.call(form.querySelectorAll("select[data-column]"));
      var least = Array.prototype.slice.call(form.querySelectorAll("[data-least]"));
      rows.forEach(function (row, i) {
        var right = joined[i].indexOf(word) >= 0;
        right = right && equal.every(function (list) {
          return !list.value || words[i][Number(list.getAttribute("data-column"))] === list.value;
        });
        right = right && least.every(function (field) {
          if (field.value === "") return true;
          var found = cells[i][Number(field.getAttribute("data-least"))];
          return typeof found === "number" && found >= Number(field.value);
        });
        row.hidden = !right;
      });
      tell("");
    }

    heads.forEach(function (head, column) {
      var button = document.createElement("button");
      button.type = "button";
      while (head.firstChild) button.appendChild(head.firstChild);
      head.appendChild(button);
      button.addEventListener("click", function () { sort(column); });
    });
    if (!form) return;
    form.addEventListener("input", filter);
    form.addEventListener("change", filter);
    form.addEventListener("submit", function (event) { event.preventDefault(); });
    form.hidden = false;
    tell("");
  }

  Array.prototype.forEach.call(document.querySelectorAll("table.sortable"), function (table) {
    equip(table, document.querySelector('form[data-table="' + table.id + '"]'));
  });
})();
