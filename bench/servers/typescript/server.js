// Serves the benchmark's tools with the official TypeScript SDK: a factory behind createMcpHandler, on node:http with the
// guards that its README composes there.
//
//   node server.js [-addr host:port]
import { createServer } from 'node:http';
import { localhostHostValidation, localhostOriginValidation, toNodeHandler } from '@modelcontextprotocol/node';
import { acceptedContent, createMcpHandler, inputRequired, inputResponse, McpServer } from '@modelcontextprotocol/server';
import * as z from 'zod';

const shipment = z.object({ trackingNumber: z.string().meta({ title: 'Tracking Number' }) });

const sender = z.object({
    firstName: z.string().meta({ title: 'First Name' }),
    lastName: z.string().meta({ title: 'Last Name' }),
    email: z.email().meta({ title: 'Email' }),
    company: z.string().meta({ title: 'Company' }),
    street: z.string().meta({ title: 'Street' }),
    city: z.string().meta({ title: 'City' }),
    postcode: z.string().meta({ title: 'Postcode' }),
    country: z.enum(['de', 'fr', 'uk', 'us']).meta({ title: 'Country' }),
    parcels: z.int().min(1).max(10).meta({ title: 'Parcels' }),
    insured: z.boolean().meta({ title: 'Insured' })
});

const nothing = z.object({});
const parcel = z.object({ note: z.string() });

const text = text => ({ content: [{ type: 'text', text }] });

// Asks a form under a key, and calls done with what the user entered.
const asking = (key, message, requestedSchema, refused, done) => (_args, ctx) => {
    const responses = ctx.mcpReq.inputResponses;
    const entered = acceptedContent(responses, key, requestedSchema);
    if (entered !== undefined) {
        return done(entered);
    }
    const answer = inputResponse(responses, key);
    if (answer.kind === 'elicit' && answer.action !== 'accept') {
        return text(refused);
    }
    return inputRequired({ inputRequests: { [key]: inputRequired.elicit({ message, requestedSchema }) } });
};

const shipOrder = asking('ship', 'Ship this order', shipment, 'Shipping cancelled.', s => text(`Shipped as ${s.trackingNumber}.`));
const register = asking('sender', 'Register the sender', sender, 'Not registered.', s => text(`Registered ${s.firstName} ${s.lastName}.`));

function newServer() {
    const server = new McpServer({ name: 'shop', version: '1.0.0' });
    server.registerTool('ShipOrder', { description: 'Asks for a tracking number, then ships.', inputSchema: nothing }, shipOrder);
    server.registerTool('ShipParcel', { description: 'Asks for a tracking number, then ships with a note.', inputSchema: parcel }, shipOrder);
    server.registerTool('Register', { description: 'Asks for a sender in ten fields.', inputSchema: nothing }, register);
    server.registerTool('Track', { description: 'Asks nothing.', inputSchema: nothing }, () => text('Shipped as 1Z999.'));
    return server;
}

const handler = toNodeHandler(createMcpHandler(newServer));
const validateHost = localhostHostValidation();
const validateOrigin = localhostOriginValidation();

const flag = process.argv.indexOf('-addr');
const [host, port] = (flag > 0 ? process.argv[flag + 1] : '127.0.0.1:0').split(':');
const http = createServer((req, res) => {
    if (validateHost(req, res) && validateOrigin(req, res)) {
        handler(req, res);
    }
});
http.listen(Number(port), host, () => {
    const { address, port } = http.address();
    console.log(`${address}:${port}`);
});
