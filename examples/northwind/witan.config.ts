/** The front desk of the Northwind trading company: a root and five specialists over a real database. */
import { fileURLToPath } from 'node:url'
import { companyAssistantAgent } from './agents/company-assistant-agent.ts'
import { customersAgent } from './agents/customers-agent.ts'
import { employeeProfileAgent } from './agents/employee-profile-agent.ts'
import { ordersAgent } from './agents/orders-agent.ts'
import { productsAgent } from './agents/products-agent.ts'
import { suppliersAgent } from './agents/suppliers-agent.ts'
import { makeDatabase } from './make-database.ts'

const database = fileURLToPath(new URL('./northwind.db', import.meta.url))
makeDatabase(database)

export default {
  store: { url: 'file:./.witan/witan.db' },
  sources: { northwind: { kind: 'sqlite', file: database } },
  agents: [companyAssistantAgent, employeeProfileAgent, ordersAgent, customersAgent, productsAgent, suppliersAgent],
}
