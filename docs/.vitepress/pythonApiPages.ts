import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import type { ApiPage } from './apiPage.ts'

/** A page of the Python reference. */
export interface PythonApiPage extends ApiPage {
  /** The number of names on it. */
  readonly names: number
}

const pythons = [process.env['KEYRAIL_PYTHON'], 'python3', 'python']

/**
 * Creates the reference of the Python package, from its sources and their docstrings. They are parsed by Python.
 * @param top - The top of the repository.
 * @param candidates - The programs to try. @default KEYRAIL_PYTHON, python3 and python
 * @returns The pages; none, with a line on stderr, if no Python 3.11 or newer is found.
 */
export function pythonApiPages(top: string, candidates = pythons): readonly PythonApiPage[] {
  const script = join(top, 'packages/python/tests/api_reference.py')
  const version = ['-c', 'import sys; assert sys.version_info >= (3, 11)']
  const python = candidates.find((one) => one !== undefined && spawnSync(one, version).status === 0)
  if (python === undefined) {
    process.stderr.write(
      'The site has no API reference of the Python package: no Python 3.11 or newer is on the path.\n',
    )
    return []
  }
  // Without -B, Python writes its cache beside the sources.
  const { status, stdout, stderr } = spawnSync(python, ['-B', script], { encoding: 'utf8', maxBuffer: 2 ** 26 })
  if (status !== 0) throw new Error(`${script} failed:\n${stderr}`)
  return JSON.parse(stdout) as readonly PythonApiPage[]
}
