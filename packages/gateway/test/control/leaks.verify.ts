import { sqlite } from '../storage/databases.ts'
import { testLeaks } from './leakTests.ts'

// everyRoute.verify.ts runs it on PostgreSQL.
testLeaks(sqlite)
