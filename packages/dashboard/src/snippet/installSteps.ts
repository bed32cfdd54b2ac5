/** A command, and where to run it. */
export interface InstallStep {
  /** `undefined`: in the user's project. */
  readonly where?: string
  readonly command: string
}

const isOurs = (word: string): boolean => word.startsWith('@keyrail/') || word === 'keyrail'

/**
 * The steps that install the libraries of an example. A test compares them with those of the README.
 * @param install - The command for packages in a registry, such as `npm install @keyrail/core viem@2`.
 * @param published - The packages of Keyrail that the configured registries have.
 * @returns That command, or the steps that install what is not published from the repository.
 */
export function getInstallSteps(install: string, published: readonly string[]): readonly InstallStep[] {
  const words = install.split(' ')
  const ours = words.filter(isOurs)
  if (ours.every((name) => published.includes(name))) return [{ command: install }]
  // web3.py is a dependency of the package.
  if (words[0] === 'pip')
    return [{ command: 'python3 -m venv .venv' }, { command: '.venv/bin/pip install /path/to/keyrail/packages/python' }]
  const others = words.slice(2).filter((word) => !isOurs(word))
  // The others depend on core, and are packed with it.
  const names = ours.filter((name) => name !== '@keyrail/core').map((name) => name.replace('@keyrail/', ''))
  return [
    { where: 'in the folder of Keyrail', command: `npm run pack -- ~/my-project ${names.join(' ')}` },
    { where: 'in your project', command: ['npm install ./*.tgz', ...others].join(' ') },
  ]
}
