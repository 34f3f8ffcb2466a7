/** Saving PGN files. */

/** Saves a text as a file of the visitor's. */
export function saveFile(text: string, name: string) {
  const url = URL.createObjectURL(new Blob([text], { type: "application/x-chess-pgn" }));
  Object.assign(document.createElement("a"), { href: url, download: name }).click();
  URL.revokeObjectURL(url);
}

/** Saves many games as one file. Other tasks have their turn between them. */
export async function saveGames<T>(games: T[], write: (game: T) => string, name: string) {
  const texts: string[] = [];
  for (const game of games) {
    texts.push(write(game));
    await new Promise((resolve) => setTimeout(resolve));
  }
  saveFile(texts.join("\n"), name);
}
