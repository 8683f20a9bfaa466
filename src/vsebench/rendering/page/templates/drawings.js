// All drawings are packed into the page, so that it is a single file. Without this script, or in a browser that cannot
// unpack them, images are loaded from the folder of the figures. An error here ends this script only.
{
  const letters = atob(document.getElementById("drawings").textContent);
  const packed = new Blob([Uint8Array.from(letters, (letter) => letter.charCodeAt(0))]);
  new Response(packed.stream().pipeThrough(new DecompressionStream("gzip"))).json().then((drawings) => {
    for (const image of document.querySelectorAll("img[data-drawing]")) {
      image.loading = "eager";
      image.src = "data:image/svg+xml," + encodeURIComponent(drawings[image.dataset.drawing]);
    }
  });
}
