import { sqlite } from '../storage/databases.ts'
import { testLeaks } from './leakTests.ts'

// On PostgreSQL: everyRoute.verify.ts.
testLeaks(sqlite)
