import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** Beside the built program, and from source in the package that builds them. */
const places = ['./dashboard/', '../../../dashboard/dist/']

/**
 * Finds the built pages of the dashboard.
 *
 * @returns Their folder, or undefined where they were not built.
 */
export function dashboardFolder(): string | undefined {
  return places
    .map((place) => fileURLToPath(new URL(place, import.meta.url)))
    .find((folder) => existsSync(`${folder}index.html`))
}
