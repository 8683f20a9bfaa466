// All drawings are packed in the page, so that it can be moved and sent alone. Without this script, or in a browser that
// cannot unpack them, an image comes from its file in the folder of the figures. An error here ends this script alone.
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
