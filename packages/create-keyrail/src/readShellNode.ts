import { spawnSync } from 'node:child_process'
import { delimiter } from 'node:path'

/**
 * Reads the version of the Node that the user's shell finds, such as `22.18.0`. It may be older than the one that runs this program: npm and npx put
 * the folders of packages first, which can contain a Node.
 *
 * @param environment - Its `PATH` is searched.
 * @returns The version of this program's Node if there is no other.
 */
export function readShellNode(environment: NodeJS.ProcessEnv): string {
  const folders = (environment['PATH'] ?? '').split(delimiter).filter((folder) => !/node_modules[\\/]/.test(folder))
  const env = { ...environment, PATH: folders.join(delimiter) }
  const { stdout } = spawnSync('node', ['--version'], { env, encoding: 'utf8' })
  return /^v(\d+\.\d+\.\d+)/.exec(stdout ?? '')?.[1] ?? process.versions.node
}
