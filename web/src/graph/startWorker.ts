/** Workers, from files of the page or from blocks of a page that is saved as one file. */

/** Start the worker of a block `<script data-worker="NAME">` of the document; where it has none, as the page does. */
export function startWorker(name: string, ofPage: () => Worker): Worker {
  const block = document.querySelector(`script[data-worker="${name}"]`);
  if (!block?.textContent) return ofPage();
  // Not as a module, which would be fetched by the rules of CORS: a file has no origin.
  return new Worker(URL.createObjectURL(new Blob([block.textContent], { type: "text/javascript" })));
}
