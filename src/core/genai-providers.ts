/** LangChain's names of providers, in JavaScript and Python, that the GenAI conventions of OpenTelemetry name otherwise. */
const PROVIDERS = new Map(
  Object.entries({
    amazon_bedrock: 'aws.bedrock',
    aws: 'aws.bedrock',
    azure: 'azure.ai.openai',
    azure_openai: 'azure.ai.openai',
    bedrock: 'aws.bedrock',
    google_anthropic_vertex: 'gcp.vertex_ai',
    google_genai: 'gcp.gemini',
    google_vertexai: 'gcp.vertex_ai',
    ibm: 'ibm.watsonx.ai',
    mistral: 'mistral_ai',
    mistralai: 'mistral_ai',
    moonshot: 'moonshot_ai',
    watsonx: 'ibm.watsonx.ai',
    xai: 'x_ai',
  }),
);

/** The provider of a model as the conventions name it; one that they do not know keeps its name. */
export function conventionalProvider<T extends string | null>(provider: T): T | string {
  return (provider !== null && PROVIDERS.get(provider)) || provider;
}
