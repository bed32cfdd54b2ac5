import { postgres, sqlite } from '../storage/databases.ts'
import { fuzzRoutes } from './routeFuzzTests.ts'

// PostgreSQL rejects some texts that SQLite stores, so it is the one that `npm test` tries. The other one: everyRoute.verify.ts.
fuzzRoutes(postgres ?? sqlite, 30)
