// Command stubprovider is a Terraform provider that has the schema of the AWS
// provider and nothing else. With it OpenTofu checks modules without a network:
// names, types and required arguments, and with mock_provider what a module
// makes of its inputs.
//
// It refuses to be configured, so it can neither plan nor apply anything real.
package main

import (
	_ "embed"
	"encoding/json"
	"log"
	"strings"

	"github.com/hashicorp/terraform-plugin-go/tfprotov5"
	"github.com/hashicorp/terraform-plugin-go/tfprotov5/tf5server"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

const address = "registry.opentofu.org/hashicorp/aws"

//go:embed schema.json
var document []byte

func main() {
	schema, err := read(document)
	if err != nil {
		log.Fatal(err)
	}
	if err := tf5server.Serve(address, func() tfprotov5.ProviderServer { return provider{schema: schema} }); err != nil {
		log.Fatal(err)
	}
}

type (
	attribute struct {
		Type                         any
		Required, Optional, Computed bool
	}
	nested struct {
		Nesting       string
		One, Required bool
		Block         block
	}
	block struct {
		Attributes map[string]attribute
		Blocks     map[string]nested
	}
)

func read(document []byte) (*tfprotov5.GetProviderSchemaResponse, error) {
	var blocks map[string]block
	if err := json.Unmarshal(document, &blocks); err != nil {
		return nil, err
	}
	configuration := &tfprotov5.SchemaBlock{
		Attributes: []*tfprotov5.SchemaAttribute{{Name: "region", Type: tftypes.String, Optional: true}},
		BlockTypes: []*tfprotov5.SchemaNestedBlock{{TypeName: "default_tags", Nesting: tfprotov5.SchemaNestedBlockNestingModeList, MaxItems: 1, Block: &tfprotov5.SchemaBlock{
			Attributes: []*tfprotov5.SchemaAttribute{{Name: "tags", Type: tftypes.Map{ElementType: tftypes.String}, Optional: true}},
		}}},
	}
	out := &tfprotov5.GetProviderSchemaResponse{
		ServerCapabilities: &tfprotov5.ServerCapabilities{GetProviderSchemaOptional: true},
		Provider:           &tfprotov5.Schema{Block: configuration},
		ResourceSchemas:    make(map[string]*tfprotov5.Schema),
		DataSourceSchemas:  make(map[string]*tfprotov5.Schema),
	}
	for name, b := range blocks {
		if data, ok := strings.CutPrefix(name, "data."); ok {
			out.DataSourceSchemas[data] = &tfprotov5.Schema{Block: convert(b)}
		} else {
			out.ResourceSchemas[name] = &tfprotov5.Schema{Block: convert(b)}
		}
	}
	return out, nil
}

func convert(b block) *tfprotov5.SchemaBlock {
	out := &tfprotov5.SchemaBlock{}
	for name, a := range b.Attributes {
		out.Attributes = append(out.Attributes, &tfprotov5.SchemaAttribute{
			Name: name, Type: typeOf(a.Type), Required: a.Required, Optional: a.Optional, Computed: a.Computed,
		})
	}
	for name, n := range b.Blocks {
		one := &tfprotov5.SchemaNestedBlock{TypeName: name, Block: convert(n.Block), Nesting: nestings[n.Nesting]}
		if n.Nesting != "single" {
			if n.One {
				one.MaxItems = 1
			}
			if n.Required {
				one.MinItems = 1
			}
		}
		out.BlockTypes = append(out.BlockTypes, one)
	}
	return out
}

var nestings = map[string]tfprotov5.SchemaNestedBlockNestingMode{
	"list":   tfprotov5.SchemaNestedBlockNestingModeList,
	"set":    tfprotov5.SchemaNestedBlockNestingModeSet,
	"single": tfprotov5.SchemaNestedBlockNestingModeSingle,
}

func typeOf(v any) tftypes.Type {
	switch v := v.(type) {
	case string:
		switch v {
		case "string":
			return tftypes.String
		case "number":
			return tftypes.Number
		case "bool":
			return tftypes.Bool
		}
	case []any:
		element := typeOf(v[1])
		switch v[0] {
		case "map":
			return tftypes.Map{ElementType: element}
		case "set":
			return tftypes.Set{ElementType: element}
		default:
			return tftypes.List{ElementType: element}
		}
	}
	return tftypes.DynamicPseudoType
}
