/** A command, and where to run it. */
export interface InstallStep {
  /** `undefined`: anywhere, or in the user's project. */
  readonly where?: string
  readonly command: string
}

const isOurs = (word: string): boolean => word.startsWith('@keyrail/') || word === 'keyrail'

/**
 * The steps that install the libraries of an example.
 * @param install - The command for packages in a registry, such as `npm install @keyrail/core viem@2`.
 * @param published - The packages of Keyrail that the configured registries have.
 * @returns That command, or steps that build what is not published from the repository.
 */
export function getInstallSteps(install: string, published: readonly string[]): readonly InstallStep[] {
  const words = install.split(' ')
  const ours = words.filter(isOurs)
  if (ours.every((name) => published.includes(name))) return [{ command: install }]
  const others = words.slice(2).filter((word) => !isOurs(word))
  if (words[0] === 'pip') {
    return [{ where: 'in the Keyrail repository', command: ['pip install ./packages/python', ...others].join(' ') }]
  }
  const filters = ours.map((name) => `--filter ${name}`).join(' ')
  return [
    {
      where: 'in the Keyrail repository',
      command: `npm run setup && npm run build && npm run pnpm -- ${filters} pack --pack-destination /path/to/your-project`,
    },
    { where: 'in your project', command: ['npm install ./keyrail-*.tgz', ...others].join(' ') },
  ]
}
