import { afterAll, beforeAll } from 'vitest'
import type { TestDatabase } from '../storage/databases.ts'
import { startControl } from './startControl.ts'
import type { StartedControl } from './startControl.ts'

/**
 * Starts a control API on a new database for the tests of a `describe`, and closes it after them.
 * @param set - Gets the control API before the first test.
 */
export const useControl = (database: TestDatabase, set: (control: StartedControl) => void): void => {
  let control: StartedControl
  beforeAll(async () => {
    control = await startControl(database)
    set(control)
  })
  afterAll(async () => {
    await control.close()
    await database.stop()
  })
}
