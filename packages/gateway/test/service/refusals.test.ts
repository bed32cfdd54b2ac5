import { sqlite } from './places.ts'
import { testRefusals } from './refusalTests.ts'

// On PostgreSQL and Redis: refusals.verify.ts.
testRefusals(sqlite)
