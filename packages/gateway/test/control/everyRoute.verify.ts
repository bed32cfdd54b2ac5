import { databases, postgres } from '../storage/databases.ts'
import { testForeignIds } from './foreignIdTests.ts'
import { testLeaks } from './leakTests.ts'
import { testRoles } from './roleTests.ts'
import { fuzzRoutes } from './routeFuzzTests.ts'
import { testRouteTable } from './routeTableTests.ts'

// Thousands of requests to every route. `npm test` runs them on one database, and this file on the other one. Only the SQL differs between
// the databases, and test/storage runs it on both.
if (postgres !== undefined) {
  testRouteTable(postgres)
  testForeignIds(postgres)
  testLeaks(postgres)
}
for (const database of databases) {
  testRoles(database)
  fuzzRoutes(database, 60)
}
