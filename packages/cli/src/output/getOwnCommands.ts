/** The commands to print for users to run. */
export interface OwnCommands {
  readonly dev: string
  /** Starts any other command: `keyrail`, or what runs it from source. */
  readonly command: string
  /** Where to run them; empty if anywhere. */
  readonly where: string
  /** Where and how to run a program that imports `@keyrail/fetch`; undefined if the user installs it. */
  readonly program?: string
}

/**
 * Gets the commands that run this program. From source, `keyrail` is not on the PATH, and `npx` finds the workspace's Node, because the
 * system's may be too old.
 *
 * @param moduleUrl - The URL of any module of this program: TypeScript from source, JavaScript if built.
 */
export function getOwnCommands(moduleUrl: string): OwnCommands {
  return moduleUrl.endsWith('.ts')
    ? {
        dev: 'npm start --',
        command: 'bin/keyrail',
        where: ', in the folder of npm start',
        program:
          'save it as try.mjs in the folder of npm start, then run npx node --env-file=.keyrail/local.env --conditions=@keyrail/source try.mjs',
      }
    : { dev: 'keyrail dev', command: 'keyrail', where: '' }
}
