// ---- what the address asks for -----------------------------------------------------------

function follow() {
  const asked = new URLSearchParams(location.hash.slice(1));
  if (browser && asked.has("search")) browser.search(asked.get("search"));
  if (browser && asked.has("program")) {
    browser.select(Number(asked.get("program")));
    byId("programs").scrollIntoView();
  }
  if (maps && asked.has("point")) {
    maps.point(Number(asked.get("point")));
    byId("map").scrollIntoView();
  }
}
addEventListener("hashchange", follow);
follow();
document.documentElement.dataset.ready = "yes";
