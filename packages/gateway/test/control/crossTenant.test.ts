import { sqlite } from '../storage/databases.ts'
import { testForeignIds } from './foreignIdTests.ts'

// On PostgreSQL: everyRoute.verify.ts.
testForeignIds(sqlite)
