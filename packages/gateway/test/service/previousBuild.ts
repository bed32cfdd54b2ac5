import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, globSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Missing } from '../../../../scripts/externalPrograms.ts'

const top = fileURLToPath(new URL('../../../..', import.meta.url))

/** The commit that the current one must run beside: the last release, and until there is one, the first commit to which the policy applies. */
const previousCommit = '5be38424'

/** The source of an earlier commit. */
export interface PreviousBuild {
  /** Its `keyrail` command. */
  readonly program: string
  readonly remove: () => void
}

/** What is missing if git does not have the commit of the previous build. */
export const findMissingBuild = (): readonly Missing[] => {
  try {
    execFileSync('git', ['cat-file', '-e', `${previousCommit}^{commit}`], { cwd: top, stdio: 'ignore' })
    return []
  } catch {
    return [{ name: 'the previous build', fix: 'git fetch --unshallow' }]
  }
}

/** Writes the source of the previous build into a folder, with the dependencies of this workspace. @returns `undefined` if git does not have the commit. */
export const openPreviousBuild = (): PreviousBuild | undefined => {
  if (findMissingBuild().length > 0) return undefined
  const folder = mkdtempSync(join(tmpdir(), 'keyrail-previous-'))
  const source = execFileSync('git', ['archive', previousCommit, 'packages', 'package.json', 'tsconfig.base.json'], {
    cwd: top,
    maxBuffer: 1024 ** 3,
  })
  execFileSync('tar', ['-x', '-C', folder], { input: source })
  symlinkSync(join(top, 'node_modules'), join(folder, 'node_modules'))
  for (const modules of globSync('packages/*/node_modules', { cwd: top }))
    if (existsSync(join(folder, dirname(modules))))
      // Links to packages of the workspace are relative, so they lead to the previous source.
      cpSync(join(top, modules), join(folder, modules), { recursive: true, verbatimSymlinks: true })
  return {
    program: join(folder, 'packages/cli/src/main.ts'),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}
