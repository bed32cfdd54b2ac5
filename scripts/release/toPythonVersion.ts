/** Names of pre-releases: npm's, and Python's (PEP 440). */
const stages: Readonly<Record<string, string>> = { alpha: 'a', beta: 'b', next: 'rc', rc: 'rc' }

/**
 * Converts an npm version to a Python version.
 * @param version - `1.2.3`, or `1.2.3-beta.0`.
 * @throws If Python has no such version: `1.2.3-fast.0`, `1.2.3+build`.
 * @example
 * toPythonVersion('1.2.0-beta.3') // '1.2.0b3'
 */
export function toPythonVersion(version: string): string {
  const [, release, stage, number] = /^(\d+\.\d+\.\d+)(?:-([a-z]+)\.(\d+))?$/.exec(version) ?? []
  const mark = stage === undefined ? '' : stages[stage]
  if (release === undefined || mark === undefined) {
    throw new Error(`Python has no version ${version}: a pre-release is named ${Object.keys(stages).join(', ')}`)
  }
  return `${release}${mark}${number ?? ''}`
}

/**
 * Sets the version in the text of a pyproject.toml, and changes nothing else.
 * @param pyproject - The text.
 * @param version - A Python version.
 * @throws If the section `[project]` has no version.
 */
export function withPythonVersion(pyproject: string, version: string): string {
  const line = /^(\[project\]\n(?:(?!\[).*\n)*?version = ")[^"\n]*"/m
  if (!line.test(pyproject)) throw new Error('pyproject.toml has no version = "…" in its [project]')
  return pyproject.replace(line, (_, before: string) => `${before}${version}"`)
}
