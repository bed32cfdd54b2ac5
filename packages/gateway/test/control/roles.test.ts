import { sqlite } from '../storage/databases.ts'
import { testRoles } from './roleTests.ts'

// everyRoute.verify.ts runs all of it, on each database.
testRoles(sqlite, { isQuick: true })
