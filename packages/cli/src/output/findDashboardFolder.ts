import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** In the packed program; beside it in the workspace; and as seen from its source. */
const places = ['../dashboard/', '../../dashboard/dist/', '../../../dashboard/dist/']

/**
 * Finds the built pages of the dashboard.
 *
 * @returns Their folder, or undefined where they were not built.
 */
export function findDashboardFolder(): string | undefined {
  return places
    .map((place) => fileURLToPath(new URL(place, import.meta.url)))
    .find((folder) => existsSync(`${folder}index.html`))
}
