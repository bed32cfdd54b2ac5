import { postgres, sqlite } from '../storage/databases.ts'
import { fuzzRoutes } from './routeFuzzTests.ts'

// PostgreSQL rejects some texts that SQLite stores, so `npm test` fuzzes PostgreSQL. everyRoute.verify.ts fuzzes both.
fuzzRoutes(postgres ?? sqlite, 30)
