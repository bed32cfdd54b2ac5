import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'
import { findMissing, getProgram, skipIfMissing } from './externalPrograms.ts'
import type { ExternalProgramName, Missing } from './externalPrograms.ts'

/** The Python of the workspace's virtual environment, or what is missing and how to get it. */
export type PythonSetUp = { readonly python: string } | { readonly missing: Missing }

const run = promisify(execFile)

const folder = join(import.meta.dirname, '../packages/python')
/** The sources of an environment, besides its requirements. If one of them changes, the environment is created again. */
const sources = [
  'pyproject.toml',
  'hatch_build.py',
  '../core/src/failure/classification.json',
  '../msw/src/faults/providers.json',
]

/** Returns the line of a failed program's output that has the reason. */
const getReason = (error: unknown): string => {
  const { stderr = '', stdout = '', message } = error as { stderr?: string; stdout?: string; message: string }
  const lines = `${stdout}\n${stderr}`.trim().split('\n')
  return (lines.find((line) => /^error/i.test(line)) ?? lines.at(-1)) || message
}

/** Takes the lock, and waits if a running process has it. Two test files may set up Python at the same time. */
const takeLock = async (lock: string): Promise<void> => {
  for (;;) {
    try {
      writeFileSync(lock, String(process.pid), { flag: 'wx' })
      return
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
    try {
      process.kill(Number(readFileSync(lock, 'utf8')) || process.pid, 0)
    } catch (error) {
      // The process ended without releasing the lock.
      if ((error as NodeJS.ErrnoException).code === 'ESRCH') rmSync(lock, { force: true })
    }
    await wait(100)
  }
}

/** Deletes the environment and creates it again. @returns What is missing on this machine, if it fails. */
const createEnvironment = async (
  program: string,
  environment: string,
  requirements: string,
): Promise<Missing | undefined> => {
  rmSync(environment, { recursive: true, force: true })
  try {
    await run(program, ['-m', 'venv', environment])
  } catch (error) {
    rmSync(environment, { recursive: true, force: true })
    return { name: `a virtual environment of ${program}`, fix: `apt-get install python3-venv. ${getReason(error)}` }
  }
  const install = async (...what: readonly string[]): Promise<void> => {
    const quietly = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--no-input']
    await run(join(environment, 'bin/python'), [...quietly, ...what], { cwd: folder, maxBuffer: 2 ** 26 })
  }
  try {
    await install('--require-hashes', '--requirement', requirements)
    await install('--no-deps', '--no-build-isolation', '--editable', '.')
  } catch (error) {
    return { name: `packages/python/${requirements}`, fix: `check the connection. ${getReason(error)}` }
  }
  return undefined
}

/** Another environment than that of the default Python with the newest dependencies. */
export interface PythonEnvironment {
  /** The path of the Python. @default the first on the path, or that in `KEYRAIL_PYTHON` */
  readonly program?: string
  /** The folder in `packages/python`. @default '.venv' */
  readonly name?: string
  /** The file with the pinned packages, in `packages/python`. @default 'requirements.txt' */
  readonly requirements?: string
}

/**
 * Creates or updates a virtual environment of the Python tests. It has pinned packages, and `keyrail` from the working tree. Does nothing if the
 * environment is up to date.
 *
 * @param onInstall - Called before packages are installed, which takes a minute.
 * @param wanted - Which environment. Default: `packages/python/.venv`.
 * @returns The Python of the environment, or what is missing. Never throws for that.
 */
export async function setUpPython(
  onInstall?: () => void,
  { program, name = '.venv', requirements = 'requirements.txt' }: PythonEnvironment = {},
): Promise<PythonSetUp> {
  if (process.platform === 'win32') return { missing: { name: 'signals of POSIX', fix: 'run the tests under WSL' } }
  const [missing] = program === undefined ? findMissing(['python']) : []
  if (missing) return { missing }
  const base = program ?? getProgram('python')
  const environment = join(folder, name)
  const stamp = join(environment, 'keyrail.sha256')
  const { stdout: version } = await run(base, ['-c', 'import sys; print(sys.implementation.name, sys.version)'])
  const python = join(environment, 'bin/python')
  const sourcesHash = createHash('sha256').update(version)
  for (const file of [requirements, ...sources]) sourcesHash.update(readFileSync(join(folder, file)))
  const mark = sourcesHash.digest('hex')
  const isUpToDate = (): boolean => existsSync(python) && existsSync(stamp) && readFileSync(stamp, 'utf8') === mark
  if (isUpToDate()) return { python }
  const lock = `${environment}.lock`
  await takeLock(lock)
  try {
    // Another process may have created it in the meantime.
    if (isUpToDate()) return { python }
    onInstall?.()
    const missing = await createEnvironment(base, environment, requirements)
    if (missing !== undefined) return { missing }
    writeFileSync(stamp, mark)
    return { python }
  } finally {
    rmSync(lock, { force: true })
  }
}

/**
 * Options of a Vitest test or suite that needs the Python of the workspace's virtual environment.
 * @param others - Programs that it needs too.
 */
export const needsPython = (
  found: PythonSetUp,
  ...others: readonly ExternalProgramName[]
): ReturnType<typeof skipIfMissing> =>
  skipIfMissing([...('missing' in found ? [found.missing] : []), ...findMissing(others)])
