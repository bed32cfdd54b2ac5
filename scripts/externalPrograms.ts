import { spawnSync } from 'node:child_process'
import { accessSync, constants, globSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, dirname, isAbsolute, join } from 'node:path'

// The programs that tests use and npm cannot install. Everything here is optional: a test that needs a missing program is skipped, and the
// summary at the end of the run counts it.
//
// - KEYRAIL_TEST_ALL=1: the run fails before the first test if a program is missing.
// - KEYRAIL_TEST_BARE=1: no program is found, as on a machine that has only Node, npm and git.

interface ExternalProgram {
  /** The names of its file, or full paths. @default the program's name in the list */
  readonly files?: readonly string[]
  /** Folders to look in after those on the path. They may contain wildcards; the last match comes first. */
  readonly folders?: readonly string[]
  /** The oldest version that the tests work with, and the arguments that print the version. */
  readonly from?: readonly [version: string, ...args: string[]]
  /** Whether a file is good enough, besides its version. */
  readonly isUsable?: (file: string) => boolean
  /** A Debian package, or a Go module. */
  readonly install: { readonly debian: string } | { readonly go: string }
}

/** The oldest Python that the Python package supports. */
export const oldestPython = '3.11'

const goFolders = ['/usr/local/go/bin', '/usr/lib/go/bin']
const goBin = join(process.env['GOPATH']?.split(delimiter)[0] || join(homedir(), 'go'), 'bin')

const isExecutable = (file: string): boolean => {
  try {
    accessSync(file, constants.X_OK)
    return statSync(file).isFile()
  } catch {
    return false
  }
}

const hasNeighbors =
  (...names: readonly string[]) =>
  (file: string): boolean =>
    names.every((name) => isExecutable(join(dirname(file), name)))

const programs = {
  caddy: { install: { debian: 'caddy' } },
  chromium: {
    files: ['chromium', 'chromium-browser', 'google-chrome', 'Google Chrome'],
    folders: ['/usr/bin', '/Applications/Google Chrome.app/Contents/MacOS'],
    install: { debian: 'chromium' },
  },
  curl: { install: { debian: 'curl' } },
  fish: { install: { debian: 'fish' } },
  // From this version on, Go downloads the newer one that a module names.
  go: { folders: goFolders, from: ['1.21', 'version'], install: { debian: 'golang-go' } },
  helm: {
    folders: [goBin],
    from: ['3.14', 'version', '--short'],
    install: { go: 'helm.sh/helm/v3/cmd/helm@v3.21.4' },
  },
  java: { folders: ['/usr/lib/jvm/*/bin'], from: ['17', '-version'], install: { debian: 'default-jdk-headless' } },
  mvn: { install: { debian: 'maven' } },
  nginx: { folders: ['/usr/sbin'], install: { debian: 'nginx-light' } },
  openssl: { install: { debian: 'openssl' } },
  // With a server of the same version next to it. Tests that need only the server use the one that npm installs.
  pg_dump: {
    folders: ['/usr/lib/postgresql/*/bin'],
    isUsable: hasNeighbors('pg_restore', 'postgres', 'initdb'),
    install: { debian: 'postgresql' },
  },
  pgbouncer: { folders: ['/usr/sbin'], install: { debian: 'pgbouncer' } },
  prlimit: { install: { debian: 'util-linux' } },
  promtool: { install: { debian: 'prometheus' } },
  python: {
    files: process.env['KEYRAIL_PYTHON']
      ? [process.env['KEYRAIL_PYTHON']]
      : ['python3', 'python3.14', 'python3.13', 'python3.12', 'python3.11', 'python'],
    folders: [join(process.env['PYENV_ROOT'] || join(homedir(), '.pyenv'), 'versions/*/bin'), '/usr/bin'],
    from: [oldestPython, '--version'],
    isUsable: (file) => spawnSync(file, ['-c', 'import ensurepip, pty, ssl, venv'], { stdio: 'ignore' }).status === 0,
    install: { debian: 'python3-venv' },
  },
  'redis-server': { folders: ['/usr/sbin'], from: ['7.0', '--version'], install: { debian: 'redis-server' } },
  'redis-cli': { install: { debian: 'redis-tools' } },
  'systemd-analyze': { install: { debian: 'systemd' } },
  zsh: { install: { debian: 'zsh' } },
} as const satisfies Readonly<Record<string, ExternalProgram>>

export type ExternalProgramName = keyof typeof programs

/** All of them. */
export const programNames: readonly ExternalProgramName[] = Object.keys(programs) as ExternalProgramName[]

/** Something that this machine lacks, and how to get it. */
export interface Missing {
  readonly name: string
  readonly fix: string
}

declare module 'vitest' {
  interface TaskMeta {
    /** What a skipped test or suite needs. */
    missing?: readonly Missing[]
  }
}

/** Whether a missing program is a failure. */
export const mustFindAll: boolean = process.env['KEYRAIL_TEST_ALL'] === '1'
const isBare = process.env['KEYRAIL_TEST_BARE'] === '1'

const toNumbers = (version: string): number[] => version.split('.').map(Number)

/** Whether a program is at least as new as a version. */
const isNewEnough = (file: string, from: string, args: readonly string[]): boolean => {
  const { stdout, stderr } = spawnSync(file, args, { encoding: 'utf8' })
  const [found] = /\d+(\.\d+)+/.exec(`${stdout}\n${stderr}`) ?? []
  if (found === undefined) return false
  const [oldest, actual] = [toNumbers(from), toNumbers(found)]
  const at = oldest.findIndex((part, index) => part !== (actual[index] ?? 0))
  return at === -1 || (actual[at] ?? 0) > (oldest[at] ?? 0)
}

const findAll = function* (name: ExternalProgramName): Generator<string, undefined> {
  const { files = [name], folders = [], from, isUsable }: ExternalProgram = programs[name]
  const onPath = (process.env['PATH'] ?? '').split(delimiter).filter(Boolean)
  const all = [...onPath, ...folders.flatMap((folder) => globSync(folder).toSorted().toReversed())]
  for (const file of files.flatMap((name) => (isAbsolute(name) ? [name] : all.map((folder) => join(folder, name))))) {
    if (!isExecutable(file)) continue
    const [oldest, ...args] = from ?? []
    if ((oldest === undefined || isNewEnough(file, oldest, args)) && isUsable?.(file) !== false) yield file
  }
  return undefined
}

const found = new Map<ExternalProgramName, string | undefined>()

/** Returns the path of a program, or `undefined` if this machine has none that is new enough. */
export function findProgram(name: ExternalProgramName): string | undefined {
  if (isBare) return undefined
  if (!found.has(name)) found.set(name, findAll(name).next().value)
  return found.get(name)
}

/** Returns the path of each Python that the package supports, by its version, such as `3.11.2`, from the oldest to the newest. */
export function findPythons(): ReadonlyMap<string, string> {
  const byVersion = new Map<string, string>()
  for (const file of isBare ? [] : findAll('python')) {
    const [version] = /\d+(\.\d+)+/.exec(spawnSync(file, ['--version'], { encoding: 'utf8' }).stdout) ?? []
    if (version !== undefined && !byVersion.has(version)) byVersion.set(version, file)
  }
  return new Map([...byVersion].toSorted(([one], [other]) => one.localeCompare(other, 'en', { numeric: true })))
}

const toMissing = (name: ExternalProgramName): Missing => {
  const { from, install }: ExternalProgram = programs[name]
  const fix = 'debian' in install ? `apt-get install ${install.debian}` : `go install ${install.go}`
  return { name: from === undefined ? name : `${name} ${from[0]}`, fix }
}

/** Returns a sentence for people. */
export const formatMissing = ({ name, fix }: Missing): string => `${name} is missing. To get it: ${fix}`

/**
 * Returns the path of a program that a test needs.
 * @throws {Error} If it is missing, with the command that installs it.
 */
export function getProgram(name: ExternalProgramName): string {
  const file = findProgram(name)
  if (file === undefined) throw new Error(formatMissing(toMissing(name)))
  return file
}

/** Returns what is missing of these programs. @param wanted - @default all */
export function findMissing(wanted: readonly ExternalProgramName[] = programNames): Missing[] {
  return wanted.filter((name) => findProgram(name) === undefined).map(toMissing)
}

/**
 * Options of a Vitest test or suite, which skip it if something is missing. The summary at the end of the run counts it.
 * @throws {Error} If something is missing and KEYRAIL_TEST_ALL is 1.
 */
export function skipIfMissing(missing: readonly Missing[]): { skip: boolean; meta: { missing: readonly Missing[] } } {
  if (mustFindAll && missing.length > 0) throw new Error(missing.map(formatMissing).join('\n'))
  return { skip: missing.length > 0, meta: { missing } }
}

/**
 * Options of a Vitest test or suite that needs programs.
 * @example
 * describe('limits on Redis', needs('redis-server'), () => { … })
 */
export const needs = (...wanted: readonly ExternalProgramName[]): ReturnType<typeof skipIfMissing> =>
  skipIfMissing(findMissing(wanted))

/** With KEYRAIL_TEST_ALL=1, throws an error that lists every missing program. */
export function requireAllPrograms(): void {
  const missing = mustFindAll ? findMissing() : []
  if (missing.length === 0) return
  throw new Error(
    `With KEYRAIL_TEST_ALL=1, tests need every program, and this machine lacks some. "npm run programs" prints the commands that install them.\n${missing.map((one) => `- ${formatMissing(one)}`).join('\n')}`,
  )
}

/** Returns the shell commands that install all missing programs. */
export function getInstallCommands(): string[] {
  const missing = programNames.filter((name) => findProgram(name) === undefined).map((name) => programs[name].install)
  const debian = missing.flatMap((install) => ('debian' in install ? [install.debian] : []))
  const modules = missing.flatMap((install) => ('go' in install ? [install.go] : []))
  const asRoot = process.getuid?.() === 0 ? '' : 'sudo '
  const apt = `${asRoot}env DEBIAN_FRONTEND=noninteractive apt-get`
  return [
    ...(debian.length > 0
      ? [`${apt} update -qq`, `${apt} install -y -qq --no-install-recommends ${debian.join(' ')}`]
      : []),
    ...modules.map((module) => `${findProgram('go') ?? 'go'} install ${module}`),
  ]
}
