import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'

/** The Python of the workspace's own virtual environment, or why there is none and how to get it. */
export type PythonSetUp = { readonly python: string } | { readonly missing: string }

const run = promisify(execFile)

const folder = join(import.meta.dirname, '../packages/python')
const environment = join(folder, '.venv')
const stamp = join(environment, 'keyrail.sha256')
const lock = `${environment}.lock`
/** What the environment is made of: a change of any of them makes it anew or brings it up to date. */
const sources = [
  'requirements.txt',
  'pyproject.toml',
  'hatch_build.py',
  '../core/src/failure/classification.json',
  '../core/src/failure/readMethods.json',
]

const versions = [14, 13, 12, 11, 10].map((minor) => `python3.${minor}`)
const toldVersion = 'import sys; assert sys.version_info >= (3, 10); print(sys.implementation.name, sys.version)'

/** The first Python on the path that is new enough. */
const findPython = async (): Promise<{ program: string; version: string } | undefined> => {
  const named = process.env['KEYRAIL_PYTHON']
  for (const program of named ? [named] : ['python3', ...versions, 'python']) {
    try {
      return { program, version: (await run(program, ['-c', toldVersion])).stdout }
    } catch {
      // Not there, too old, or a stand-in for one that is not installed.
    }
  }
  return undefined
}

/** The line in which a program that failed said why. */
const saidOf = (error: unknown): string => {
  const { stderr = '', stdout = '', message } = error as { stderr?: string; stdout?: string; message: string }
  const lines = `${stdout}\n${stderr}`.trim().split('\n')
  return (lines.find((line) => /^error/i.test(line)) ?? lines.at(-1)) || message
}

/** Takes the lock, once nobody else holds it who is still alive. Two test files may want Python at the same time. */
const takeLock = async (): Promise<void> => {
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
      // Left behind by a process that ended without its say.
      if ((error as NodeJS.ErrnoException).code === 'ESRCH') rmSync(lock, { force: true })
    }
    await wait(100)
  }
}

/** Makes the environment anew. @returns What this machine lacks. */
const makeEnvironment = async (program: string, python: string): Promise<string | undefined> => {
  rmSync(environment, { recursive: true, force: true })
  try {
    await run(program, ['-m', 'venv', environment])
  } catch (error) {
    rmSync(environment, { recursive: true, force: true })
    return `${program} makes no virtual environments (Debian: apt-get install python3-venv): ${saidOf(error)}`
  }
  const install = async (...what: readonly string[]): Promise<void> => {
    const quietly = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--no-input']
    await run(python, [...quietly, ...what], { cwd: folder, maxBuffer: 2 ** 26 })
  }
  try {
    await install('--require-hashes', '--requirement', 'requirements.txt')
    await install('--no-deps', '--no-build-isolation', '--editable', '.')
  } catch (error) {
    return `pip could not install packages/python/requirements.txt (is there a network?): ${saidOf(error)}`
  }
  return undefined
}

/**
 * Makes the virtual environment in which Python's tests run, `packages/python/.venv`, or brings it up to date: pinned packages, and
 * `keyrail` itself as it stands in the tree. Does nothing where it is right already.
 *
 * Looks for Python 3.10 or newer on the path; `KEYRAIL_PYTHON` names another.
 *
 * @returns The environment's program, or a line that says what this machine lacks and how to get it. Never throws for that.
 */
export async function setUpPython(): Promise<PythonSetUp> {
  if (process.platform === 'win32') return { missing: 'they need signals, which Windows lacks: run them under WSL' }
  const found = await findPython()
  if (!found)
    return { missing: 'no Python 3.10 or newer is on the path: install one (Debian: apt-get install python3-venv)' }
  const python = join(environment, 'bin/python')
  const wanted = createHash('sha256').update(found.version)
  for (const file of sources) wanted.update(readFileSync(join(folder, file)))
  const mark = wanted.digest('hex')
  const isRight = (): boolean => existsSync(python) && existsSync(stamp) && readFileSync(stamp, 'utf8') === mark
  if (isRight()) return { python }
  await takeLock()
  try {
    // Somebody else may have made it while this waited.
    if (isRight()) return { python }
    const missing = await makeEnvironment(found.program, python)
    if (missing !== undefined) return { missing }
    writeFileSync(stamp, mark)
    return { python }
  } finally {
    rmSync(lock, { force: true })
  }
}
