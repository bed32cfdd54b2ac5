import { sqlite } from './places.ts'
import { testRejections } from './rejectionTests.ts'

// On PostgreSQL and Redis: rejections.verify.ts.
testRejections(sqlite)
