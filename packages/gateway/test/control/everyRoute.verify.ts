import { databases, postgres } from '../storage/databases.ts'
import { testForeignIds } from './foreignIdTests.ts'
import { testLeaks } from './leakTests.ts'
import { fuzzRoutes } from './routeFuzzTests.ts'
import { testRouteTable } from './routeTableTests.ts'

// Thousands of requests through the same code for every route. `npm test` makes them on one database, this file on the other one. What
// differs between the databases is their SQL, which test/storage runs on both.
if (postgres !== undefined) {
  testRouteTable(postgres)
  testForeignIds(postgres)
  testLeaks(postgres)
}
for (const database of databases) fuzzRoutes(database, 60)
