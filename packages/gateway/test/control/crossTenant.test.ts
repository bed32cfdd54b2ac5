import { sqlite } from '../storage/databases.ts'
import { testForeignIds } from './foreignIdTests.ts'

// everyRoute.verify.ts runs it on PostgreSQL.
testForeignIds(sqlite)
