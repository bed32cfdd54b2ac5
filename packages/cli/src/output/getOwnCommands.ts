/** How this program is called where it runs: what is printed for people to type. */
export interface OwnCommands {
  readonly dev: string
  readonly call: string
  /** What must be said of where they are typed; empty where anywhere will do. */
  readonly where: string
  /** Where a program that imports `@keyrail/fetch` runs, and how; nothing where that is up to whoever installs it. */
  readonly program?: string
}

/**
 * Finds out how this program is called. From source there is no `keyrail` on anybody's path, and the machine's own Node may be too old to run it:
 * `npx` finds the workspace's.
 *
 * @param moduleUrl - The URL of any module of this program: TypeScript from source, JavaScript once built.
 */
export function getOwnCommands(moduleUrl: string): OwnCommands {
  return moduleUrl.endsWith('.ts')
    ? {
        dev: 'npm start --',
        call: 'npx node --conditions=@keyrail/source packages/cli/src/main.ts call',
        where: ', in the folder of npm start',
        program:
          'saved as examples/latest-block-fetch/try.js, it runs with npx node --conditions=@keyrail/source examples/latest-block-fetch/try.js',
      }
    : { dev: 'keyrail dev', call: 'keyrail call', where: '' }
}
