/**
 * Adds to the text of a package.json where its source is. Who forks the workspace publishes from another place, so no manifest holds it.
 * @param manifest - The text.
 * @param url - The repository's page, as in `https://github.com/someone/keyrail`.
 * @param directory - The package's folder in it.
 */
export function withRepository(manifest: string, url: string, directory: string): string {
  const repository = { type: 'git', url: `git+${url}.git`, directory }
  return `${JSON.stringify({ ...(JSON.parse(manifest) as object), repository }, undefined, 2)}\n`
}
