import { sqlite } from './places.ts'
import { testRefusals } from './rejectionTests.ts'

// On PostgreSQL and Redis: refusals.verify.ts.
testRefusals(sqlite)
