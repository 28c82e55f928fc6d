// What a browser's tab keeps while its session holds a file: a name by which the next session of this tab finds it.
// The browser keeps it for this tab alone.
const KEY = "epsilon-lab-tab";
const AGAIN = 5000; // milliseconds, for which a ledger that was asked in vain is not asked again
let told = "", asking = 0;

export default function ({ data, setTriggerValue }) {
  clearInterval(asking);
  let kept = "";
  try {
    kept = sessionStorage.getItem(KEY) || "";
    if (data.name && data.name !== kept) sessionStorage.setItem(KEY, data.name);
  } catch {
    return; // a browser that keeps nothing: the file has to be brought again
  }
  if (data.name || !kept) return;
  const ask = () => setTriggerValue("back", kept);
  if (data.waits) {
    const mine = (asking = setInterval(ask, AGAIN));
    return () => clearInterval(mine);
  }
  if (kept === told) return;
  told = kept; // once in a page: the server is not asked again and again for a file that is gone
  ask();
}
