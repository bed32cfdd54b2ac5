/**
 * Adds the repository to the text of a package.json. The manifests in the sources do not contain it, because a fork has another repository.
 * @param manifest - The text.
 * @param url - The repository's page, as in `https://github.com/someone/keyrail`.
 * @param directory - The package's folder in it.
 */
export function withRepository(manifest: string, url: string, directory: string): string {
  const repository = { type: 'git', url: `git+${url}.git`, directory }
  return `${JSON.stringify({ ...(JSON.parse(manifest) as object), repository }, undefined, 2)}\n`
}
