/** The scripts, packages, programs and paths that commands in documents can use. */
export interface KnownCommands {
  /** Scripts of the root package.json. */
  readonly scripts: readonly string[]
  /** Published packages. */
  readonly packages: readonly string[]
  /** Programs that `npx` finds in the workspace. */
  readonly programs: readonly string[]
  /** Returns the help of a `keyrail` command, or undefined if there is no such command. */
  readonly keyrailHelp: (command: string) => string | undefined
  /** Returns whether a path exists in the workspace. */
  readonly exists: (path: string) => boolean
}

/**
 * Finds commands of a shell block that name a script, package, program, command, option or file that does not exist.
 * @param shell - The block: commands, with or without `$ ` before them; other lines are output.
 * @param known - The names that exist.
 * @returns One sentence per problem.
 */
export function findCommandProblems(shell: string, known: KnownCommands): string[] {
  const joined = shell.replaceAll(/\\\n/g, ' ')
  return joined.split('\n').flatMap((line) =>
    line
      .replace(/^\s*\$ /, '')
      .replace(/(^|\s)#.*$/, '')
      .split(/&&|\|\||[|;]/)
      .flatMap((command) => findProblems(command.trim().split(/\s+/), known)),
  )
}

function findProblems(words: readonly string[], known: KnownCommands): string[] {
  const [program = '', ...rest] = words.filter((word) => !/^[A-Z_][A-Z0-9_]*=/.test(word))
  const named = rest.filter((word) => !word.startsWith('-'))
  switch (program) {
    case 'npm':
      return findNpmProblems(named, known)
    case 'npx':
      return findNpxProblems(rest.slice(rest.findIndex((word) => !word.startsWith('-'))), known)
    case 'keyrail':
      return findKeyrailProblems(rest, known)
    case 'node':
      return named
        .slice(0, 1)
        .filter((path) => !known.exists(path))
        .map((path) => `there is no ${path}`)
    default:
      return /^[.]{0,2}[/]|^[.]ci[/]/.test(program) && !known.exists(program) ? [`there is no ${program}`] : []
  }
}

function findNpmProblems([verb = '', ...named]: readonly string[], { scripts, packages }: KnownCommands): string[] {
  if (['start', 'test'].includes(verb)) return scripts.includes(verb) ? [] : [`there is no script ${verb}`]
  if (verb === 'run') return scripts.includes(named[0] ?? '') ? [] : [`there is no script ${named[0]}`]
  if (['install', 'i', 'add'].includes(verb)) {
    return named
      .filter((name) => /keyrail/.test(name) && !packages.includes(name))
      .map((name) => `there is no package ${name}`)
  }
  if (verb === 'create') {
    return packages.includes(`create-${named[0]}`) ? [] : [`there is no package create-${named[0]}`]
  }
  return [`npm ${verb} is not a command that this checker knows`]
}

function findNpxProblems([program = '', ...rest]: readonly string[], known: KnownCommands): string[] {
  if (program === 'keyrail') return findKeyrailProblems(rest, known)
  return known.programs.includes(program) ? [] : [`npx finds no ${program}`]
}

function findKeyrailProblems([command = '', ...rest]: readonly string[], { keyrailHelp }: KnownCommands): string[] {
  if (/^--(help|version)$/.test(command)) return []
  const help = keyrailHelp(command)
  if (help === undefined) return [`there is no keyrail ${command}`]
  return rest
    .map((word) => /^--[a-z][a-z-]*/.exec(word)?.[0])
    .filter((option) => option !== undefined && !help.includes(option))
    .map((option) => `keyrail ${command} has no ${option}`)
}
