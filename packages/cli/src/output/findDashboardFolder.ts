import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** In the published package, next to the build in the workspace, and from source. */
const candidates = ['../dashboard/', '../../dashboard/dist/', '../../../dashboard/dist/']

/**
 * Finds the built dashboard.
 *
 * @returns Its folder; undefined if it is not built.
 */
export function findDashboardFolder(): string | undefined {
  return candidates
    .map((path) => fileURLToPath(new URL(path, import.meta.url)))
    .find((folder) => existsSync(`${folder}index.html`))
}
