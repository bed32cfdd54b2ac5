import { sqlite } from '../storage/databases.ts'
import { testRoles } from './roleTests.ts'

// everyRoute.verify.ts runs it on PostgreSQL.
testRoles(sqlite)
